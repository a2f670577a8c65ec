"""The local broker starts, keeps, stops."""

from aiokafka.admin import AIOKafkaAdminClient


async def test_the_broker_answers(broker: str) -> None:
    """A broker that was handed out answers at once."""
    admin = AIOKafkaAdminClient(bootstrap_servers=broker)
    await admin.start()
    try:
        assert len((await admin.describe_cluster())["brokers"]) == 1
    finally:
        await admin.close()
