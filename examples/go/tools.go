//go:build tools

// The programs that ./generate builds, so that go.mod and go.sum pin their versions.
package main

import (
	_ "google.golang.org/grpc/cmd/protoc-gen-go-grpc"
	_ "google.golang.org/protobuf/cmd/protoc-gen-go"
)
