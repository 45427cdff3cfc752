"""The consumer loop of docs/integrations/kafka.md finds what refold score finds."""

import json

import confluent_kafka
import pytest

import refold
from tests.docs.pages import ROOT, blocks_of

pytestmark = pytest.mark.slow
TOPIC, ALARMS = "birds", "birds.outliers"


@pytest.fixture(scope="module")
def watch():
    page = blocks_of(ROOT / "docs" / "integrations" / "kafka.md")
    names = {}
    exec(compile(page[0].text, str(page[0]), "exec"), names)
    return names["watch"]


@pytest.fixture
def cluster():
    """A producer that brings its broker with it, and how others reach it."""
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": "unused", "test.mock.num.brokers": 1, "log_level": 0}
    )
    brokers = producer.list_topics(timeout=30).brokers.values()
    return producer, {"bootstrap.servers": ",".join(f"{one.host}:{one.port}" for one in brokers)}


def send(producer, rows):
    for row in rows:
        producer.produce(TOPIC, json.dumps(row), partition=0)
    assert producer.flush(30) == 0


def messages_of(settings, topic):
    """Every message of the topic that is there now."""
    consumer = confluent_kafka.Consumer({**settings, "group.id": "reader"})
    partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
    begin = confluent_kafka.OFFSET_BEGINNING
    places = [confluent_kafka.TopicPartition(topic, one, begin) for one in partitions]
    total = sum(consumer.get_watermark_offsets(place, timeout=30)[1] for place in places)
    consumer.assign(places)
    found = []
    while len(found) < total:
        found += [json.loads(one.value()) for one in consumer.consume(total, timeout=1.0)]
    consumer.close()
    return found


def committed(settings):
    consumer = confluent_kafka.Consumer({**settings, "group.id": "refold"})
    (place,) = consumer.committed([confluent_kafka.TopicPartition(TOPIC, 0)], timeout=30)
    consumer.close()
    return place.offset


def rows_of(faulty):
    return json.loads(faulty.frame.to_json(orient="records"))


def test_each_outlier_is_sent_once_with_its_reason(watch, cluster, faulty):
    producer, settings = cluster
    rows = rows_of(faulty)
    send(producer, rows)
    model = refold.load(faulty.model)
    watch(model, settings, TOPIC, ALARMS, lambda: committed(settings) < len(rows))
    outliers = [alarm for alarm in messages_of(settings, ALARMS) if "offset" in alarm]
    outliers.sort(key=lambda alarm: alarm["offset"])  # they stand in several partitions
    assert [one["offset"] for one in outliers] == faulty.outliers
    for one in outliers:
        assert one["because"] == faulty.scored[one["offset"]]["because"]


def test_a_message_that_is_no_row_is_not_committed(watch, cluster, faulty):
    producer, settings = cluster
    send(producer, [{"colour": "blue"}])
    with pytest.raises(ValueError, match="There is no column 'species'"):
        watch(refold.load(faulty.model), settings, TOPIC, ALARMS, lambda: True)
    assert committed(settings) < 0
