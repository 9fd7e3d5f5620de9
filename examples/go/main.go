// Which of these items has the user seen? And: these were shown. And: tell me everything, I test by myself.
//
//	examples/go/generate                                          # once: the generated package
//	cd examples/go && go run . -server 127.0.0.1:7700 -user u1 v1 v2 v3
//
// Prints one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	bloomring "bloomring/v1"
)

var timeout = flag.Duration("timeout", time.Second, "how long a query may take")

// Calls go in turn to all addresses of the server's name. What is UNAVAILABLE is tried again within the call's deadline:
// every call may be carried out twice (see Retries in the .proto file).
const serviceConfig = `{
  "loadBalancingConfig": [{"round_robin": {}}],
  "methodConfig": [{
    "name": [{"service": "bloomring.v1.BloomringService"}],
    "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.02s", "maxBackoff": "0.5s", "backoffMultiplier": 2,
                    "retryableStatusCodes": ["UNAVAILABLE"]}
  }]
}`

func connect(server string) (*grpc.ClientConn, error) {
	return grpc.NewClient(server,
		grpc.WithTransportCredentials(insecure.NewCredentials()), // credentials.NewClientTLSFromFile(ca, "") for TLS.
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)),
		// The service takes a ping in ten seconds.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 30 * time.Second, Timeout: 5 * time.Second, PermitWithoutStream: true}))
}

// Ids end to end, with a byte for each length: no object for each of 10,000 candidates.
func packed(items []string) *bloomring.Ids {
	ids := &bloomring.PackedIds{}
	for _, item := range items {
		ids.Bytes = append(ids.Bytes, item...)
		ids.Lengths = append(ids.Lengths, byte(len(item)))
	}
	return &bloomring.Ids{Packed: ids}
}

// Bit i%8 of byte i/8 is candidate i.
func isSeen(response *bloomring.FilterResponse, i int) bool {
	return i/8 < len(response.Seen) && response.Seen[i/8]>>(i%8)&1 == 1
}

// Fails open where the service could not be asked in time: nothing counts as seen, and the answer is not complete. A
// request that is wrong is an error.
func ask(ctx context.Context, service bloomring.BloomringServiceClient, user string, items []string) (*bloomring.FilterResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	response, err := service.Filter(ctx, &bloomring.FilterRequest{User: user, Candidates: packed(items)})
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted:
		log.Printf("not asked: %v", err)
		return &bloomring.FilterResponse{}, nil
	}
	return response, err
}

func recordServed(ctx context.Context, service bloomring.BloomringServiceClient, user string, items []string) error {
	ctx, cancel := context.WithTimeout(ctx, 5**timeout) // It waits for the log.
	defer cancel()
	_, err := service.RecordServed(ctx, &bloomring.RecordServedRequest{User: user, Items: packed(items)})
	return err
}

func snapshot(ctx context.Context, service bloomring.BloomringServiceClient, user string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	response, err := service.GetSnapshot(ctx, &bloomring.GetSnapshotRequest{User: user})
	return response.GetSnapshot(), err
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	server := flag.String("server", "127.0.0.1:7700", "host:port of the service")
	user := flag.String("user", "", "whom to ask about")
	record := flag.Bool("record-served", false, "report the items that are left as shown")
	flag.Parse()
	connection, err := connect(*server)
	check(err)
	defer connection.Close()
	service := bloomring.NewBloomringServiceClient(connection)
	ctx := context.Background()
	response, err := ask(ctx, service, *user, flag.Args())
	check(err)
	seen, left := []string{}, []string{}
	for i, item := range flag.Args() {
		if isSeen(response, i) {
			seen = append(seen, item)
		} else {
			left = append(left, item)
		}
	}
	if *record {
		check(recordServed(ctx, service, *user, left))
	}
	blob, err := snapshot(ctx, service, *user)
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"seen": seen, "left": left, "complete": response.GetComplete(), "snapshot_bytes": len(blob)}))
}
