from enum import StrEnum


class TurnEventType7Event(StrEnum):
    UNKEPT = "unkept"

    def __str__(self) -> str:
        return str(self.value)
