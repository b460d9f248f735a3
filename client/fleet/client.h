#ifndef STOKER_CLIENT_FLEET_CLIENT_H_
#define STOKER_CLIENT_FLEET_CLIENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "stoker/v1/data_service.pb.h"

namespace stoker {

class NameResolver;
class Transport;

// The servers of a job and the connections to them. Loaders of one process, such as one for training and one for
// validation, share a client. Thread-safe. Connects when it is first asked something. An answer that no stokerd gives
// is that server's refusal, Internal: one above 1 MiB, or with numbers that cannot be (see check_answer.h).
class Client {
 public:
  static constexpr int kMostConnections = 16;  // To each server.

  // Where the servers are, and how to connect to them.
  struct Options {
    // "host:port", "host" (port 7077), "unix:/path", "dns:///name:port" for all addresses of a name, or "file:/path"
    // for the servers that a file lists, one a line. Names are looked up and files read again every few seconds.
    std::vector<std::string> servers;

    // How long a first answer of any server is waited for. Say it where servers may start after this client. Where it
    // is not given, 30 s are waited for what may pass, such as a network that is down; but servers that all refuse
    // connections or have no address fail at once.
    std::optional<absl::Duration> connect_timeout;

    // TCP connections to each server, 1 to kMostConnections. More than one helps where one connection is the limit, as
    // its congestion window is over a long way.
    int connections = 1;

    // A file in PEM with the certificates of the authorities that signed the servers'. Empty: no TLS.
    std::string tls_ca_file;

    // The name in the servers' certificates. Empty: the name of the first dns:/// server, or else the host that each
    // server is reached by.
    std::string tls_server_name;

    // Files in PEM with this client's certificate, followed by those between it and its authority, and with its key,
    // for servers that ask for one. They need tls_ca_file.
    std::string tls_cert_file, tls_key_file;

    // A file with a token that says who this client is, for servers that ask for one. It is sent by TLS or a Unix
    // socket alone.
    //
    // All these files are read again when they change, for new connections and streams.
    std::string token_file;
  };

  // InvalidArgument where an address cannot be one, there are too many connections, a file cannot be read or is not
  // good, or the token would be sent in plaintext.
  static absl::StatusOr<std::shared_ptr<Client>> Create(Options options);

  ~Client();

  // The datasets of the first server that answers. Unavailable, with each server's reason, if none answers in time or
  // none can (see connect_timeout).
  absl::StatusOr<v1::ListDatasetsResponse> ListDatasets();

  // How each server fares, in the order of their addresses. A server that cannot be reached, or does not answer soon
  // after another one did, has an error of its own: Unimplemented where it is too old to tell. NotFound where the
  // servers' names stand for none.
  struct ServerStatus {
    std::string address;
    absl::StatusOr<v1::StatusResponse> status;
  };
  absl::StatusOr<std::vector<ServerStatus>> Status();

  // One page of what the servers' index knows of a dataset, from the first server that answers. Errors as of Describe;
  // servers that are too old to tell refuse with Unimplemented.
  absl::StatusOr<v1::ListClassesResponse> ListClasses(const v1::ListClassesRequest& request);
  absl::StatusOr<v1::ListSamplesResponse> ListSamples(const v1::ListSamplesRequest& request);

  // The name of the servers' dataset, where they have just one; else InvalidArgument lists their datasets.
  absl::StatusOr<std::string> OnlyDataset();

  // What the servers say of a dataset and a pipeline. Waits for the first server that answers, and a moment for the
  // others. FailedPrecondition names two servers that disagree about the dataset or its pixels. Where no server can
  // describe them, the error is a server's own refusal (NotFound, InvalidArgument), or Unavailable if none answers.
  absl::StatusOr<v1::DescribeResponse> Describe(const v1::DescribeRequest& request);

  const Options& options() const { return options_; }
  const std::shared_ptr<Transport>& transport() const { return transport_; }

  // Why servers cannot be reached now, in plain words, by their names or addresses; nothing of those that can. Looks at
  // the first few alone. Blocks for some seconds for names, and as FindObstacle does for each.
  std::vector<std::string> Obstacles() const;

  // What the servers' names stood for when they were looked up last.
  struct Known {
    std::vector<std::string> addresses;  // Sorted.
    bool complete = true;                // All names could be looked up.
  };
  Known Addresses() const;

  // Begins to look names up again, and to read files. Never blocks, however long that takes; Addresses() tells what
  // came of it.
  void LookUpAgain();

  // Counts what was looked up: while this stays, so does Addresses().
  uint64_t LookUps() const;

 private:
  Client(Options options, std::shared_ptr<Transport> transport);

  const Options options_;
  const std::shared_ptr<Transport> transport_;
  const std::unique_ptr<NameResolver> resolver_;
};

// Whether two identities' contents differ, as far as both sides know theirs.
bool ContentDiffers(const v1::Identity& a, const v1::Identity& b);

// Says how the identity `b` that a server has differs from the expected `a`, as in "its copy of the dataset differs:
// …"; empty if they agree.
std::string Difference(const v1::Identity& a, const v1::Identity& b);

}  // namespace stoker

#endif  // STOKER_CLIENT_FLEET_CLIENT_H_
