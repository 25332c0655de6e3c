from enum import StrEnum


class TurnEventType4Event(StrEnum):
    LOST = "lost"

    def __str__(self) -> str:
        return str(self.value)
