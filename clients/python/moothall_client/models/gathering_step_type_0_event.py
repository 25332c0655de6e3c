from enum import StrEnum


class GatheringStepType0Event(StrEnum):
    OPENED = "opened"

    def __str__(self) -> str:
        return str(self.value)
