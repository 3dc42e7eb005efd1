"""What onnxruntime says of a file that it cannot use, in words for the user."""

import re

__all__ = ["fault_of", "line_of"]

FAULTS = (
    (
        r"Protobuf parsing failed|No graph was found|codec can't decode",
        "is no ONNX file, or is damaged; export it, or fetch it, again",
    ),
    (
        r"(?:Fatal error: )?(\S+?)(?:\(-?\d+\))? is not a registered function/op",
        "needs the operator '{}', which onnxruntime does not have; export it with standard operators",
    ),
    (
        r"No Op registered for (\S+)",
        "needs the operator '{}', which onnxruntime does not have; export it with standard operators",
    ),
    (
        r"Could not find an implementation for (\w+)",
        "needs '{}' for a type of values that onnxruntime does not have it for; export it in float32",
    ),
    (
        r'External data path does not exist: "(?:[^"]*/)?([^"/]+)"',
        "has its weights in '{}', which is not there; put it beside the ONNX file",
    ),
    (
        r"External initializer: .* out of bounds",
        "has its weights in another file, which is too short; copy it again, beside the ONNX file",
    ),
    (
        r"Unsupported model IR version: \d+, max supported IR version: (\d+)",
        "was written by a newer ONNX than onnxruntime knows; save it with an IR version of at most {}",
    ),
    (
        r"Opset \d+ is under development.* is till opset (\d+)",
        "was written by a newer ONNX than onnxruntime knows; export it with an opset of at most {}",
    ),
)
"""Patterns in messages of onnxruntime, and what is wrong with the file then, and what to do."""


def fault_of(error: Exception) -> str:
    """What is wrong with a file that cannot be opened, and what to do; it goes on from the name of the file."""
    message = " ".join(str(error).split())
    for pattern, fault in FAULTS:
        match = re.search(pattern, message, re.IGNORECASE)
        if match is not None:
            return fault.format(*match.groups())
    return f"is no network that onnxruntime can run ({line_of(error)}); export it again"


def line_of(error: Exception, most: int = 200) -> str:
    """The message of an error of onnxruntime on one line of so many characters, without places in its source."""
    message = " ".join(str(error).split())
    message = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : (Load model from .*? failed:)?", "", message)
    message = re.sub(r"/\S+\.(?:cc|h):\d+ .*?\) (?=[A-Z[])", "", message)
    message = message.rpartition(" was false. ")[2]
    return message[:most].rstrip(" .")
