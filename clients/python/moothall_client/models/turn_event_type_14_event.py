from enum import StrEnum


class TurnEventType14Event(StrEnum):
    ROUND_REOPENED = "round_reopened"

    def __str__(self) -> str:
        return str(self.value)
