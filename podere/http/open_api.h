// What a page says of its API, for programs.
#pragma once

#include <string>

namespace podere::http {

/// Of a PageServer's API. The last two are JSON objects; they may refer to "#/components/responses/Failure".
struct Api {
  const char* title;
  const char* description;  ///< without the token, of which all say the same
  const char* paths;
  const char* schemas;
};

/// In the terms of OpenAPI 3.1, as JSON.
std::string open_api(const Api& api);

}  // namespace podere::http
