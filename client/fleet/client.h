#ifndef STOKER_CLIENT_FLEET_CLIENT_H_
#define STOKER_CLIENT_FLEET_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

class Transport;

// The servers of a job and the connections to them. Loaders of one process, such as one for training and one for
// validation, share a client. Thread-safe. Connects when it is first asked something.
class Client {
 public:
  static constexpr int kMostConnections = 16;  // To a server.

  // Where the servers are, and how to connect to them.
  struct Options {
    // "host:port", "host" (port 7077), "unix:/path", "dns:///name:port" for all addresses of a name, or "file:/path"
    // for those that a file lists, one a line; names are looked up and files read again every few seconds.
    std::vector<std::string> servers;
    absl::Duration connect_timeout = absl::Seconds(30);

    // TCP connections to each server, 1 to kMostConnections: more where one is the limit, as over a long way, where one
    // congestion window is.
    int connections = 1;

    // Connect by TLS, to servers whose certificates these authorities signed: a file in PEM. Empty: no TLS.
    std::string tls_ca_file;
    // The name in the certificates. Empty: that of the first dns:/// server, else the host that each is reached by.
    std::string tls_server_name;
  };

  // InvalidArgument where an address cannot be one, there are too many connections, or tls_ca_file cannot be read.
  static absl::StatusOr<std::shared_ptr<Client>> Create(Options options);

  ~Client();

  // What the first server that answers serves. Unavailable, with each server's reason, if none does in time.
  absl::StatusOr<v1::ListDatasetsResponse> ListDatasets();

  // The name of the servers' dataset, where they have just one; else InvalidArgument lists them.
  absl::StatusOr<std::string> OnlyDataset();

  // What the servers make of a dataset and a pipeline. Waits for the first server that answers, and a moment for
  // the others. FailedPrecondition, naming both, where two disagree about the dataset or its pixels; a server's own
  // refusal (NotFound, InvalidArgument) where it has one.
  absl::StatusOr<v1::DescribeResponse> Describe(const v1::DescribeRequest& request);

  const Options& options() const { return options_; }
  const std::shared_ptr<Transport>& transport() const { return transport_; }

  // The addresses that the servers' names stand for now. Clears `complete`, if given, where a name could not be
  // looked up.
  std::vector<std::string> Addresses(bool* complete = nullptr) const;

 private:
  Client(Options options, std::shared_ptr<Transport> transport);

  // The addresses, waiting for a name to have some for at most connect_timeout.
  absl::StatusOr<std::vector<std::string>> AwaitAddresses() const;

  const Options options_;
  const std::shared_ptr<Transport> transport_;
};

// "a.fingerprint and b.fingerprint differ: …" where two servers' identities do; empty if they agree.
std::string Difference(const v1::Identity& a, const v1::Identity& b);

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_CLIENT_H_
