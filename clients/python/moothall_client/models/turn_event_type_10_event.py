from enum import StrEnum


class TurnEventType10Event(StrEnum):
    TAKEN = "taken"

    def __str__(self) -> str:
        return str(self.value)
