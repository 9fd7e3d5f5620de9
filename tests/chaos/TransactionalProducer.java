import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * One transaction after the other, as transactions.py tells it: BOOTSTRAP TOPIC as words; on standard input the records of
 * a transaction, one a line, then "commit" or "abort". Says what became of it on standard output, in the same word. Ends
 * with 1 when it cannot tell; whoever starts after it aborts what it left open.
 */
public class TransactionalProducer {
  public static void main(String[] words) throws Exception {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", words[0]);
    properties.put("transactional.id", "chaos");
    properties.put("transaction.timeout.ms", "15000");
    properties.put("delivery.timeout.ms", "12000");
    properties.put("request.timeout.ms", "6000");
    properties.put("max.block.ms", "20000");
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    try (var producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
      producer.initTransactions();
      boolean open = false;
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        boolean end = line.equals("commit") || line.equals("abort");
        if (!open) producer.beginTransaction();
        open = !end;
        if (!end) {
          producer.send(new ProducerRecord<>(words[1], line));
          continue;
        }
        producer.flush();
        if (line.equals("commit")) producer.commitTransaction(); else producer.abortTransaction();
        System.out.println(line);
        System.out.flush();
      }
    }
  }
}
