from enum import StrEnum


class GatheringStepType1Event(StrEnum):
    ROUND_OPENED = "round_opened"

    def __str__(self) -> str:
        return str(self.value)
