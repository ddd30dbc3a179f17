#include "podere/io/missing_tokens.h"

#include <algorithm>
#include <cmath>

#include "podere/io/decimal.h"

namespace podere::io {

std::vector<std::string> usual_missing_tokens() {
  return {"",     "NA",  "NaN",  "nan",  "NULL", "null",     "?",      "-nan",    "N/A",     "n/a",
          "#N/A", "#NA", "<NA>", "None", "-NaN", "#N/A N/A", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"};
}

MissingTokens::MissingTokens(const std::vector<std::string>& tokens) : texts_(tokens) {
  for (const std::string& token : tokens) {
    float value;
    if (parse_float(token, value) && !std::isnan(value)) numbers_.push_back(value);
  }
}

bool MissingTokens::holds(std::string_view text) const {
  return std::find(texts_.begin(), texts_.end(), text) != texts_.end();
}

bool MissingTokens::holds(float value) const {
  return std::find(numbers_.begin(), numbers_.end(), value) != numbers_.end();
}

}  // namespace podere::io
