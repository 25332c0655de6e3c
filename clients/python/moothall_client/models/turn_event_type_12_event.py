from enum import StrEnum


class TurnEventType12Event(StrEnum):
    REACTION_OPENED = "reaction_opened"

    def __str__(self) -> str:
        return str(self.value)
