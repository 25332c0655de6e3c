from enum import StrEnum


class TurnEventType5Event(StrEnum):
    SKIPPED = "skipped"

    def __str__(self) -> str:
        return str(self.value)
