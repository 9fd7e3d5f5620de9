package main

import (
	prometheus "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	scaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var kinds = map[string]func() any{
	"v1 ConfigMap":                            func() any { return &core.ConfigMap{} },
	"v1 Namespace":                            func() any { return &core.Namespace{} },
	"v1 Service":                              func() any { return &core.Service{} },
	"v1 ServiceAccount":                       func() any { return &core.ServiceAccount{} },
	"apps/v1 StatefulSet":                     func() any { return &apps.StatefulSet{} },
	"policy/v1 PodDisruptionBudget":           func() any { return &policy.PodDisruptionBudget{} },
	"networking.k8s.io/v1 NetworkPolicy":      func() any { return &networking.NetworkPolicy{} },
	"monitoring.coreos.com/v1 PodMonitor":     func() any { return &prometheus.PodMonitor{} },
	"monitoring.coreos.com/v1 PrometheusRule": func() any { return &prometheus.PrometheusRule{} },
	"kafka.strimzi.io/v1beta2 KafkaTopic":     func() any { return &kafkaTopic{} },
	"kafka.strimzi.io/v1beta2 KafkaUser":      func() any { return &kafkaUser{} },
	"keda.sh/v1alpha1 ScaledObject":           func() any { return &scaledObject{} },
}

type object struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
}

// Of the custom resource definitions of Strimzi, what our objects use. Their config takes any key; these are the ones that
// bloomring sets, by Kafka's names.
type kafkaTopic struct {
	object `json:",inline"`
	Spec   struct {
		TopicName  string `json:"topicName"`
		Partitions int32  `json:"partitions"`
		Replicas   int16  `json:"replicas"`
		Config     struct {
			CleanupPolicy        string `json:"cleanup.policy"`
			MaxMessageBytes      int64  `json:"max.message.bytes"`
			MessageTimestampType string `json:"message.timestamp.type"`
			MinInsyncReplicas    int32  `json:"min.insync.replicas"`
			RetentionMs          int64  `json:"retention.ms"`
		} `json:"config"`
	} `json:"spec"`
}

type kafkaUser struct {
	object `json:",inline"`
	Spec   struct {
		Authentication struct {
			Type string `json:"type"`
		} `json:"authentication"`
		Authorization struct {
			Type string `json:"type"`
			ACLs []struct {
				Resource struct {
					Type        string `json:"type"`
					Name        string `json:"name"`
					PatternType string `json:"patternType"`
				} `json:"resource"`
				Operations []string `json:"operations"`
			} `json:"acls"`
		} `json:"authorization"`
	} `json:"spec"`
}

// Of the custom resource definition of KEDA, what our objects use.
type scaledObject struct {
	object `json:",inline"`
	Spec   struct {
		ScaleTargetRef  scaling.CrossVersionObjectReference `json:"scaleTargetRef"`
		MinReplicaCount int32                               `json:"minReplicaCount"`
		MaxReplicaCount int32                               `json:"maxReplicaCount"`
		PollingInterval int32                               `json:"pollingInterval"`
		Advanced        struct {
			HorizontalPodAutoscalerConfig struct {
				Behavior scaling.HorizontalPodAutoscalerBehavior `json:"behavior"`
			} `json:"horizontalPodAutoscalerConfig"`
		} `json:"advanced"`
		Triggers []struct {
			Type       string            `json:"type"`
			MetricType string            `json:"metricType"`
			Metadata   map[string]string `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}
