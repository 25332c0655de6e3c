from enum import StrEnum


class TurnEventType0Event(StrEnum):
    GRANTED = "granted"

    def __str__(self) -> str:
        return str(self.value)
