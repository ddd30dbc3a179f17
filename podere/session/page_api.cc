#include "podere/session/page_api.h"

#include "podere/http/open_api.h"

namespace podere::session {

const std::string& page_api() {
  static const std::string text = http::open_api({.title = "Podere: what a driver does now",
                                                  .description = "Reads only.",
                                                  .paths = R"json({
  "/api/session": {
    "get": {
      "summary": "The session, or the one command, and its jobs",
      "responses": {
        "200": {"description": "As it is now", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Session"}}}},
        "304": {"description": "As the client has it: If-None-Match"},
        "403": {"$ref": "#/components/responses/Failure"}
      }
    }
  },
  "/api/runs/{job}": {
    "get": {
      "summary": "The run of one job, in the form that reports have",
      "parameters": [{"name": "job", "in": "path", "required": true, "schema": {"type": "integer", "minimum": 1}}],
      "responses": {
        "200": {"description": "What is known of it", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Run"}}}},
        "304": {"description": "As the client has it: If-None-Match"},
        "403": {"$ref": "#/components/responses/Failure"},
        "404": {"$ref": "#/components/responses/Failure"}
      }
    }
  },
  "/metrics": {
    "get": {
      "summary": "Counters, for Prometheus",
      "responses": {
        "200": {"description": "In OpenMetrics for clients that accept it, else in Prometheus' text format", "content": {"text/plain": {"schema": {"type": "string"}}}},
        "403": {"$ref": "#/components/responses/Failure"}
      }
    }
  }
})json",
                                                  .schemas = R"json({
  "Session": {
    "type": "object",
    "required": ["podere_live", "version", "id", "session", "host", "process", "executors", "tables", "waits_for", "jobs", "ended"],
    "properties": {
      "podere_live": {"const": 1},
      "version": {"type": "string"},
      "id": {"type": "string", "description": "Of this driver: another one has another"},
      "session": {"type": ["string", "null"], "description": "null: one command"},
      "host": {"type": "string"},
      "process": {"type": "integer"},
      "executors": {
        "type": "object",
        "required": ["wanted", "least", "ready", "cores", "each"],
        "properties": {
          "wanted": {"type": "integer", "minimum": 1},
          "least": {"type": "integer", "minimum": 1},
          "ready": {"type": "integer", "minimum": 0},
          "cores": {"type": "integer", "minimum": 0, "description": "Of each executor"},
          "each": {"type": "array", "items": {"$ref": "#/components/schemas/Executor"}}
        },
        "additionalProperties": false
      },
      "tables": {"type": "array", "items": {
        "type": "object",
        "required": ["name", "rows", "columns"],
        "properties": {
          "name": {"type": "string"},
          "rows": {"type": "integer", "minimum": 0},
          "columns": {"type": "integer", "minimum": 0}
        },
        "additionalProperties": false
      }},
      "waits_for": {"type": ["string", "null"]},
      "jobs": {"type": "array", "items": {"$ref": "#/components/schemas/Job"}},
      "ended": {"type": "boolean"}
    },
    "additionalProperties": false
  },
  "Executor": {
    "type": "object",
    "required": ["executor"],
    "properties": {
      "executor": {"type": "integer", "minimum": 0},
      "host": {"type": "string"},
      "process": {"type": "integer"},
      "memory_bytes": {"type": "integer", "minimum": 0},
      "phase": {"type": "string", "description": "Of its job; empty between jobs"},
      "silent_seconds": {"type": "number", "minimum": 0}
    },
    "additionalProperties": false
  },
  "Job": {
    "type": "object",
    "required": ["job", "kind", "name", "state", "seconds", "seconds_left", "progress", "message", "revision"],
    "properties": {
      "job": {"type": "integer", "minimum": 1},
      "kind": {"type": "string"},
      "name": {"type": "string"},
      "state": {"enum": ["waiting", "running", "done", "failed", "cancelled"]},
      "seconds": {"type": "number", "minimum": 0},
      "seconds_left": {"type": ["number", "null"], "minimum": 0},
      "progress": {
        "type": "object",
        "required": ["phase", "done", "total", "unit"],
        "properties": {
          "phase": {"type": "string"},
          "done": {"type": "integer", "minimum": 0},
          "total": {"type": "integer", "minimum": 0},
          "unit": {"type": "string"}
        },
        "additionalProperties": false
      },
      "message": {"type": "string"},
      "revision": {"type": "integer", "minimum": 0, "description": "Grows with each change of its run"}
    },
    "additionalProperties": false
  },
  "Run": {
    "type": "object",
    "required": ["name", "job", "command", "arguments", "began", "seconds", "state", "phases", "curves", "events"],
    "properties": {
      "name": {"type": "string"},
      "job": {"type": "integer", "minimum": 1},
      "command": {"type": "string"},
      "arguments": {"type": "string"},
      "began": {"type": "string"},
      "seconds": {"type": "number", "minimum": 0},
      "state": {"enum": ["running", "done", "interrupted", "failed"]},
      "phases": {"type": "array", "items": {"type": "object"}},
      "curves": {"type": "array", "items": {"type": "object"}},
      "events": {"type": "array", "items": {"type": "object"}},
      "result": {"type": "object"},
      "model": {"type": "object"},
      "measured": {"type": "array", "items": {"type": "object"}},
      "columns": {"type": ["object", "null"]}
    }
  }
})json"});
  return text;
}

}  // namespace podere::session
