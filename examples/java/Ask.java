import com.google.protobuf.ByteString;
import io.bloomring.v1.BloomringServiceGrpc;
import io.bloomring.v1.BloomringServiceGrpc.BloomringServiceBlockingStub;
import io.bloomring.v1.FilterRequest;
import io.bloomring.v1.FilterResponse;
import io.bloomring.v1.GetSnapshotRequest;
import io.bloomring.v1.Ids;
import io.bloomring.v1.PackedIds;
import io.bloomring.v1.RecordServedRequest;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Which of these items has the user seen? And: these were shown. And: tell me everything, I test by myself.
 *
 * <pre>
 *   examples/java/generate                                             # once: generated classes, compiled
 *   examples/java/build/ask 127.0.0.1:7700 u1 1000 [--record-served] v1 v2 v3
 * </pre>
 *
 * The third word is how long a query may take, in milliseconds; the first one of a process takes longer, because classes
 * are loaded and a connection is made. Prints which items are seen and which are left, one a line, then what else it was
 * told.
 */
public final class Ask {
  /**
   * Calls go in turn to all addresses of the server's name. What is UNAVAILABLE is tried again within the call's
   * deadline: every call may be carried out twice (see Retries in the .proto file).
   */
  private static final Map<String, ?> SERVICE_CONFIG =
      Map.of(
          "loadBalancingConfig", List.of(Map.of("round_robin", Map.of())),
          "methodConfig",
          List.of(
              Map.of(
                  "name", List.of(Map.of("service", "bloomring.v1.BloomringService")),
                  "retryPolicy",
                  Map.of(
                      "maxAttempts", 3.0,
                      "initialBackoff", "0.02s",
                      "maxBackoff", "0.5s",
                      "backoffMultiplier", 2.0,
                      "retryableStatusCodes", List.of("UNAVAILABLE")))));

  private static ManagedChannel connect(String server) {
    // TlsChannelCredentials.newBuilder().trustManager(ca).build() for TLS.
    return Grpc.newChannelBuilder(server, InsecureChannelCredentials.create())
        .defaultServiceConfig(SERVICE_CONFIG)
        .enableRetry()
        .maxInboundMessageSize(64 << 20)
        .keepAliveTime(30, TimeUnit.SECONDS) // The service takes a ping in ten seconds.
        .keepAliveTimeout(5, TimeUnit.SECONDS)
        .keepAliveWithoutCalls(true)
        .build();
  }

  /** Ids end to end, with a byte for each length: no object for each of 10,000 candidates. */
  private static Ids packed(List<String> items) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(), lengths = new ByteArrayOutputStream();
    for (String item : items) {
      byte[] id = item.getBytes(StandardCharsets.UTF_8);
      bytes.writeBytes(id);
      lengths.write(id.length);
    }
    return Ids.newBuilder()
        .setPacked(
            PackedIds.newBuilder()
                .setBytes(ByteString.copyFrom(bytes.toByteArray()))
                .setLengths(ByteString.copyFrom(lengths.toByteArray())))
        .build();
  }

  /** Bit i % 8 of byte i / 8 is candidate i. */
  private static boolean isSeen(FilterResponse response, int i) {
    return i / 8 < response.getSeen().size() && (response.getSeen().byteAt(i / 8) >> (i % 8) & 1) == 1;
  }

  /**
   * Fails open where the service could not be asked in time: nothing counts as seen, and the answer is not complete. A
   * request that is wrong is an error.
   */
  private static FilterResponse ask(
      BloomringServiceBlockingStub service, String user, List<String> items, long timeoutMs) {
    FilterRequest request = FilterRequest.newBuilder().setUser(user).setCandidates(packed(items)).build();
    try {
      return service.withDeadlineAfter(timeoutMs, TimeUnit.MILLISECONDS).filter(request);
    } catch (StatusRuntimeException e) {
      switch (e.getStatus().getCode()) {
        case UNAVAILABLE:
        case DEADLINE_EXCEEDED:
        case RESOURCE_EXHAUSTED:
          System.err.println("not asked: " + e.getStatus());
          return FilterResponse.getDefaultInstance();
        default:
          throw e;
      }
    }
  }

  public static void main(String[] args) throws Exception {
    if (args.length < 4) {
      System.err.println("usage: ask SERVER USER TIMEOUT_MS [--record-served] ITEM...");
      System.exit(2);
    }
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    String user = args[1];
    long timeoutMs = Long.parseLong(args[2]);
    boolean record = args[3].equals("--record-served");
    List<String> items = List.of(args).subList(record ? 4 : 3, args.length), left = new ArrayList<>();
    ManagedChannel channel = connect(args[0]);
    try {
      BloomringServiceBlockingStub service = BloomringServiceGrpc.newBlockingStub(channel);
      FilterResponse response = ask(service, user, items, timeoutMs);
      for (int i = 0; i < items.size(); ++i) {
        out.println(items.get(i) + (isSeen(response, i) ? " seen" : " left"));
        if (!isSeen(response, i)) left.add(items.get(i));
      }
      out.println(response.getComplete() ? "complete" : "not complete");
      if (record) {
        service
            .withDeadlineAfter(5 * timeoutMs, TimeUnit.MILLISECONDS) // It waits for the log.
            .recordServed(RecordServedRequest.newBuilder().setUser(user).setItems(packed(left)).build());
        out.println(left.size() + " recorded as served");
      }
      ByteString snapshot =
          service
              .withDeadlineAfter(timeoutMs, TimeUnit.MILLISECONDS)
              .getSnapshot(GetSnapshotRequest.newBuilder().setUser(user).build())
              .getSnapshot();
      out.println("a snapshot of " + snapshot.size() + " bytes");
    } finally {
      channel.shutdown().awaitTermination(5, TimeUnit.SECONDS);
    }
  }
}
