#include "podere/http/open_api.h"
#include "podere/overview/farm_page.h"

namespace podere::overview {

const std::string& farm_api() {
  static const std::string text =
      http::open_api({.title = "Podere: farms of a cluster",
                      .description = "Changes no farm: what-if makes a question to the operator and deletes it.",
                      .paths = R"json({
  "/api/farms": {
    "get": {
      "summary": "The farms, as they were read last",
      "responses": {
        "200": {"description": "As they are", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Farms"}}}},
        "304": {"description": "As the client has it: If-None-Match"},
        "403": {"$ref": "#/components/responses/Failure"}
      }
    }
  },
  "/api/what-if": {
    "get": {
      "summary": "What the operator expects if a farm wanted another number of executors; takes up to 20 s",
      "parameters": [
        {"name": "farm", "in": "query", "required": true, "schema": {"type": "string"}, "description": "NAMESPACE/NAME"},
        {"name": "executors", "in": "query", "required": true, "schema": {"type": "integer", "minimum": 0, "maximum": 100000}}
      ],
      "responses": {
        "200": {"description": "Its answer", "content": {"application/json": {"schema": {
          "type": "object",
          "required": ["text", "answer"],
          "properties": {"text": {"type": "string", "description": "Lines"}, "answer": {"type": "object", "description": "As podere farm what-if --json"}},
          "additionalProperties": false
        }}}},
        "400": {"$ref": "#/components/responses/Failure"},
        "403": {"$ref": "#/components/responses/Failure"},
        "503": {"$ref": "#/components/responses/Failure"}
      }
    }
  }
})json",
                      .schemas = R"json({
  "Farms": {
    "type": "object",
    "required": ["podere_farms", "version", "id", "server", "namespace", "problem", "farms"],
    "properties": {
      "podere_farms": {"const": 1},
      "version": {"type": "string"},
      "id": {"type": "string", "description": "Of this server: another one has another"},
      "server": {"type": "string"},
      "namespace": {"type": ["string", "null"], "description": "null: farms of all namespaces"},
      "problem": {"type": ["string", "null"], "description": "Why the farms could not be read again"},
      "farms": {"type": "array", "items": {"$ref": "#/components/schemas/Farm"}}
    },
    "additionalProperties": false
  },
  "Farm": {
    "type": "object",
    "required": ["namespace", "name", "guaranteed", "wanted", "maximum", "priority", "weight", "gang", "makes_pods", "status", "history"],
    "properties": {
      "namespace": {"type": "string"},
      "name": {"type": "string"},
      "guaranteed": {"type": "integer", "minimum": 0},
      "wanted": {"type": ["integer", "null"], "description": "null: as many as there are"},
      "maximum": {"type": ["integer", "null"]},
      "priority": {"type": "integer"},
      "weight": {"type": "number"},
      "gang": {"type": "boolean"},
      "makes_pods": {"type": "boolean", "description": "false: another program makes its pods"},
      "status": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Status"}]},
      "history": {
        "type": "array",
        "description": "Since the page began, a point for each change: seconds since 1970, running, pending, ending",
        "items": {"type": "array", "minItems": 4, "maxItems": 4, "items": {"type": "number"}}
      }
    },
    "additionalProperties": false
  },
  "Status": {
    "type": "object",
    "required": ["executors", "running", "ready", "pending", "terminating", "over_guarantee", "message", "as_of", "conditions"],
    "properties": {
      "executors": {"type": "integer", "minimum": 0},
      "running": {"type": "integer", "minimum": 0},
      "ready": {"type": "integer", "minimum": 0},
      "pending": {"type": "integer", "minimum": 0},
      "terminating": {"type": "integer", "minimum": 0},
      "over_guarantee": {"type": "integer", "minimum": 0},
      "message": {"type": "string", "description": "The sentence of the farm"},
      "as_of": {"type": "string"},
      "conditions": {"type": "array", "items": {
        "type": "object",
        "required": ["type", "holds", "reason", "message", "since"],
        "properties": {
          "type": {"type": "string"},
          "holds": {"type": "boolean"},
          "reason": {"type": "string"},
          "message": {"type": "string"},
          "since": {"type": "string"}
        },
        "additionalProperties": false
      }}
    },
    "additionalProperties": false
  }
})json"});
  return text;
}

}  // namespace podere::overview
