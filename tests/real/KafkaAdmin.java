import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.HashMap;
import java.util.Optional;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.StringSerializer;

/** What tests do to topics that kcat cannot: see kafka_admin.py, which runs this file with the broker's own jars. */
public class KafkaAdmin {
  public static void main(String[] words) throws Exception {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", words[0]);
    try (Admin admin = Admin.create(properties)) {
      switch (words[1]) {
        case "delete-records" -> {  // TOPIC PARTITION OFFSET ...
          Map<TopicPartition, RecordsToDelete> below = new HashMap<>();
          for (int i = 3; i + 1 < words.length; i += 2) {
            below.put(new TopicPartition(words[2], Integer.parseInt(words[i])),
                RecordsToDelete.beforeOffset(Long.parseLong(words[i + 1])));
          }
          admin.deleteRecords(below).all().get();
        }
        case "delete-topic" -> admin.deleteTopics(List.of(words[2])).all().get();
        case "create-topic" -> {  // TOPIC PARTITIONS KEY=VALUE ..., of which replication=N is not the topic's.
          Map<String, String> configs = new HashMap<>();
          for (int i = 4; i < words.length; ++i) {
            configs.put(words[i].split("=", 2)[0], words[i].split("=", 2)[1]);
          }
          Optional<Short> replication = Optional.ofNullable(configs.remove("replication")).map(Short::valueOf);
          admin.createTopics(List.of(new NewTopic(words[2], Optional.of(Integer.parseInt(words[3])), replication)
              .configs(configs))).all().get();
        }
        case "add-partitions" ->  // TOPIC PARTITIONS (the new number)
            admin.createPartitions(Map.of(words[2], NewPartitions.increaseTo(Integer.parseInt(words[3])))).all().get();
        case "allow" -> {  // USER topic|group|cluster NAME OPERATION,OPERATION ... and so on for each resource
          List<AclBinding> bindings = new ArrayList<>();
          for (int i = 2; i + 3 < words.length; i += 4) {
            ResourceType type = ResourceType.fromString(words[i + 1]);
            for (String operation : words[i + 3].split(",")) {
              bindings.add(new AclBinding(new ResourcePattern(type, words[i + 2], PatternType.LITERAL),
                  new AccessControlEntry(words[i], "*", AclOperation.fromString(operation.replaceAll("(?<=[a-z])(?=[A-Z])", "_")),
                      AclPermissionType.ALLOW)));
            }
          }
          admin.createAcls(bindings).all().get();
        }
        case "write-transaction" -> {  // TOPIC PARTITION commit|abort VALUE ...
          properties.put("transactional.id", "test");
          try (var producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            for (int i = 5; i < words.length; ++i) {
              producer.send(new ProducerRecord<>(words[2], Integer.valueOf(words[3]), null, words[i]));
            }
            producer.flush();
            if (words[4].equals("commit")) producer.commitTransaction(); else producer.abortTransaction();
          }
        }
        default -> throw new IllegalArgumentException(words[1]);
      }
    }
  }
}
