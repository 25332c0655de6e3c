from enum import StrEnum


class TurnEventType15Event(StrEnum):
    FACTS = "facts"

    def __str__(self) -> str:
        return str(self.value)
