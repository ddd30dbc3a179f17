#include "podere/http/open_api.h"

#include <fmt/format.h>

#include "podere/base/json.h"

namespace podere::http {
namespace {

constexpr const char* kOfAll = R"json({
  "openapi": "3.1.0",
  "info": {"version": "1"},
  "servers": [{"url": "./"}],
  "security": [{"bearer": []}, {"query": []}],
  "paths": {},
  "components": {
    "securitySchemes": {
      "bearer": {"type": "http", "scheme": "bearer"},
      "query": {"type": "apiKey", "in": "query", "name": "token"}
    },
    "responses": {
      "Failure": {
        "description": "Why there is none",
        "content": {"application/json": {"schema": {
          "type": "object",
          "required": ["error"],
          "properties": {"error": {"type": "string"}},
          "additionalProperties": false
        }}}
      }
    }
  }
})json";

}  // namespace

std::string open_api(const Api& api) {
  Json document = Json::parse(kOfAll);
  document["info"]["title"] = api.title;
  document["info"]["description"] = fmt::format("{} The token is in the link that podere prints.", api.description);
  document["paths"] = Json::parse(api.paths);
  document["components"]["schemas"] = Json::parse(api.schemas);
  return to_text(document);
}

}  // namespace podere::http
