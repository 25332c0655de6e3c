from enum import StrEnum


class GatheringStepType3Event(StrEnum):
    BEAT = "beat"

    def __str__(self) -> str:
        return str(self.value)
