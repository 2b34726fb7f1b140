#include "riata/linear/rules/ftrl.hpp"

#include "riata/linear/make.hpp"

namespace riata {

std::unique_ptr<Linear> make_ftrl(const std::string& update, const std::string& store,
                                  const LinearSpec& spec) {
  return update == "ftrl" ? make_linear<Ftrl>(store, spec) : nullptr;
}

}  // namespace riata
