"""Validates the bodies of calls against aiogram's models, which are generated from Telegram's documents.

Usage: bodies.py FOLDER   (journals of the fake, one call of JSON a line)

Only calls that the fake let through are judged: it must be at least as strict as the models. A field that a
model does not have is a finding too.
"""

import json
import pathlib
import sys
from collections import Counter

import aiogram.methods
from pydantic import BaseModel, ValidationError

MODELS = {model.__api_method__.lower(): model for model in vars(aiogram.methods).values()
          if isinstance(model, type) and isinstance(getattr(model, "__api_method__", None), str)}


def extras(value, path):
    """Returns the paths of all fields that no model has."""
    if isinstance(value, BaseModel):
        found = [f"{path}.{name}" for name in value.model_extra or {}]
        for name in value.model_fields_set:
            found += extras(getattr(value, name, None), f"{path}.{name}")
        return found
    if isinstance(value, (list, tuple)):
        return [found for item in value for found in extras(item, f"{path}[]")]
    return []


def findings(call):
    model = MODELS.get(call["method"].lower())
    if model is None:
        return ["aiogram does not have the method"]
    try:
        return extras(model.model_validate(call["body"]), call["method"])
    except ValidationError as error:
        return [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]


def main():
    judged, failed = Counter(), 0
    for journal in sorted(pathlib.Path(sys.argv[1]).glob("*.jsonl")):
        for line in journal.read_text().splitlines():
            call = json.loads(line)
            if call["outcome"] not in ("done", "unanswered"):
                continue
            judged[call["method"]] += 1
            for finding in findings(call):
                failed += 1
                print(f"{journal.name}: {finding}\n  {line[:500]}", file=sys.stderr)
    if failed or not judged:
        sys.exit(f"{failed} findings in {judged.total()} bodies")
    print(f"{judged.total()} bodies of {len(judged)} methods are valid: {', '.join(sorted(judged))}")


main()
