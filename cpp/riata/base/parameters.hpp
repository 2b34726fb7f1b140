// Named numbers: how parameters reach a rule.
#pragma once

#include <map>
#include <string>

namespace riata {

using Numbers = std::map<std::string, double>;

}  // namespace riata
