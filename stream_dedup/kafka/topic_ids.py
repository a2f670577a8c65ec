"""The ids of topics, which tell a topic made anew from the one of the same name before it (KIP-516).

aiokafka (0.14) asks for metadata up to version 5, which has no ids: so the request is put together here, of its parts.
"""

from base64 import urlsafe_b64encode
from io import BytesIO

from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import (
    AbstractType,
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Schema,
    TaggedFields,
)

METADATA = 3
"""API key of metadata requests."""
VERSION = 12
"""Of the request: ids and names together, since Kafka 3.1."""
ID_BYTES = 16


class _Uuid(AbstractType[bytes]):  # type: ignore[misc]  # aiokafka has no types
    """An id as its bytes."""

    @classmethod
    def encode(cls, value: bytes) -> bytes:
        return value

    @classmethod
    def decode(cls, data: BytesIO) -> bytes:
        return data.read(ID_BYTES)


_PARTITION = (
    ("error_code", Int16),
    ("partition", Int32),
    ("leader", Int32),
    ("leader_epoch", Int32),
    ("replicas", CompactArray(Int32)),
    ("isr", CompactArray(Int32)),
    ("offline_replicas", CompactArray(Int32)),
    ("tags", TaggedFields),
)
_TOPIC = (
    ("error_code", Int16),
    ("topic", CompactString("utf-8")),
    ("topic_id", _Uuid),
    ("is_internal", Boolean),
    ("partitions", CompactArray(*_PARTITION)),
    ("authorized_operations", Int32),
    ("tags", TaggedFields),
)
_BROKER = (
    ("node_id", Int32),
    ("host", CompactString("utf-8")),
    ("port", Int32),
    ("rack", CompactString("utf-8")),
    ("tags", TaggedFields),
)
_NO_TAGS: dict[int, bytes] = {}


class _MetadataResponse(Response):  # type: ignore[misc]  # aiokafka has no types
    API_KEY = METADATA
    API_VERSION = VERSION
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        ("brokers", CompactArray(*_BROKER)),
        ("cluster_id", CompactString("utf-8")),
        ("controller_id", Int32),
        ("topics", CompactArray(*_TOPIC)),
        ("tags", TaggedFields),
    )


class _MetadataRequest(RequestStruct):  # type: ignore[misc]  # aiokafka has no types
    API_KEY = METADATA
    API_VERSION = VERSION
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = _MetadataResponse
    SCHEMA = Schema(
        ("topics", CompactArray(("topic_id", _Uuid), ("name", CompactString("utf-8")), ("tags", TaggedFields))),
        ("allow_auto_topic_creation", Boolean),
        ("include_topic_authorized_operations", Boolean),
        ("tags", TaggedFields),
    )


class TopicIdRequest(Request[_MetadataRequest]):  # type: ignore[misc]  # aiokafka has no types
    """Asks for one topic by its name, and makes none."""

    API_KEY = METADATA

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def build(self, request_struct_class: type[_MetadataRequest]) -> _MetadataRequest:
        """The request as it is sent."""
        return request_struct_class([(bytes(ID_BYTES), self._topic, _NO_TAGS)], False, False, _NO_TAGS)  # noqa: FBT003


def topic_id_of(response: _MetadataResponse) -> tuple[int, str]:
    """The error code of a response's one topic, and its id as Kafka's tools write it: URL-safe base64, unpadded."""
    ((code, _name, topic_id, *_),) = response.topics
    return code, urlsafe_b64encode(topic_id).decode("ascii").rstrip("=")
