from enum import StrEnum


class TurnEventType13Event(StrEnum):
    FACTS = "facts"

    def __str__(self) -> str:
        return str(self.value)
