from enum import StrEnum


class GatheringStepType5Event(StrEnum):
    PIECE_RELEASED = "piece_released"

    def __str__(self) -> str:
        return str(self.value)
