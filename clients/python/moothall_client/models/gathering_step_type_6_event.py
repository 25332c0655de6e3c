from enum import StrEnum


class GatheringStepType6Event(StrEnum):
    HARVEST_ASKED = "harvest_asked"

    def __str__(self) -> str:
        return str(self.value)
