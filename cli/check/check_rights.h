// Compares the rights in Kafka of the configured user with those that its stages need, for `bloomring check`.
#pragma once

#include <map>
#include <string>

#include "cli/check/check_report.h"
#include "pipeline/kafka/admin.h"
#include "pipeline/settings/settings.h"

namespace bloomring::cli {

// `users`: the pattern of the users whose rights are compared, {stage} standing for the stage; empty: the user of
// kafka.properties, with the rights of all stages of the configuration. Rights count as checked when the brokers show
// their ACLs. Where they do not, calls that change nothing show some missing rights, and a note says the rest.
void check_rights(kafka::Admin& admin, const Settings& settings, const std::string& users, CheckReport& report);

// "User:NAME" for a user with a name and a password, "User:ANONYMOUS" for a connection without a login; empty for a
// login whose name only the brokers know (certificate, Kerberos, OAuth).
std::string principal_of(const std::map<std::string, std::string>& properties);

}  // namespace bloomring::cli
