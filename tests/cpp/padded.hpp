// Text as readers want it: with readable bytes behind it. They sit at the end of the allocation, so that the
// address sanitizer notices a read beyond them.
#pragma once

#include <memory>
#include <string_view>

#include "riata/text/number.hpp"

class Padded {
 public:
  explicit Padded(std::string_view text) : size_(text.size()), memory_(new char[size_ + riata::kPadding]) {
    text.copy(memory_.get(), size_);
    // Digits are the worst that can follow: a reader that does not stop at the newline would take them in.
    for (std::size_t i = 0; i < riata::kPadding; ++i) memory_[size_ + i] = '7';
  }
  const char* begin() const { return memory_.get(); }
  const char* end() const { return memory_.get() + size_; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> memory_;
};
