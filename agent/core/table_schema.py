"""The schema of a policy file, for editors and for those who write tables of their own."""

from __future__ import annotations

import json

from agent.core.tables import Tables


def schema_text() -> str:
    """The JSON Schema of a policy file, as published in docs/policy.schema.json."""
    schema = Tables.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Trapeze policy tables"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"
