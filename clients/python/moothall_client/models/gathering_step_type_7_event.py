from enum import StrEnum


class GatheringStepType7Event(StrEnum):
    HARVESTED = "harvested"

    def __str__(self) -> str:
        return str(self.value)
