from enum import StrEnum


class TurnEventType8Event(StrEnum):
    UNKEPT = "unkept"

    def __str__(self) -> str:
        return str(self.value)
