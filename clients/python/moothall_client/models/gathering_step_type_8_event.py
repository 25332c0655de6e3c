from enum import StrEnum


class GatheringStepType8Event(StrEnum):
    CLOSED = "closed"

    def __str__(self) -> str:
        return str(self.value)
