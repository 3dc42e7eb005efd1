"""Labels of a frame as detections of the package `supervision`: one for each class that is found."""

from typing import TYPE_CHECKING

import numpy as np

from budgetseg.errors import UsageError
from budgetseg.types import IGNORE, Classes, Float32, UInt8

if TYPE_CHECKING:
    from supervision import Detections

__all__ = ["detections_of"]


def detections_of(labels: UInt8, confidence: Float32, classes: Classes) -> "Detections":
    """Detections with mask, box, class and mean confidence; UsageError if `supervision` is not installed.

    Parameters
    ----------
    labels : (H, W) uint8
    confidence : (H, W) probability of each label
    classes : names of the labels
    """
    try:
        import supervision
    except ImportError:
        raise UsageError("supervision is not installed; pip install 'budgetseg[notebook]'") from None
    found = np.unique(labels[labels != IGNORE]).astype(np.int64)
    masks = labels == found[:, None, None]
    return supervision.Detections(
        xyxy=supervision.mask_to_xyxy(masks).astype(np.float32),
        mask=masks,
        class_id=found,
        confidence=np.array([confidence[mask].mean() for mask in masks], np.float32),
        data={"class_name": np.array(classes.names)[found]},
    )
