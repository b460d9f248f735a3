#ifndef STOKER_TESTS_UNIT_SERVER_READ_FORMATS_LMDB_ENVIRONMENT_H_
#define STOKER_TESTS_UNIT_SERVER_READ_FORMATS_LMDB_ENVIRONMENT_H_

#include <lmdb.h>

#include <functional>
#include <map>
#include <string>

#include "common/check.h"

namespace stoker {

// An LMDB environment in a folder that exists, written by liblmdb.
class Environment {
 public:
  using Entries = std::map<std::string, std::string>;

  explicit Environment(const std::string& folder) {
    STOKER_CHECK(mdb_env_create(&environment_) == 0 && mdb_env_set_mapsize(environment_, 256 << 20) == 0 &&
                 mdb_env_set_maxdbs(environment_, 8) == 0 && mdb_env_open(environment_, folder.c_str(), 0, 0644) == 0);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { mdb_env_close(environment_); }

  // Writes entries in one transaction, into the main database where `database` is empty.
  void Put(const Entries& entries, const std::string& database = "", unsigned flags = 0) {
    Commit(database, flags, [&](MDB_txn* transaction, MDB_dbi handle) {
      for (const auto& [key, value] : entries) {
        MDB_val stored_key = ValueOf(key), stored_value = ValueOf(value);
        STOKER_CHECK(mdb_put(transaction, handle, &stored_key, &stored_value, 0) == 0);
      }
    });
  }

  void Delete(const Entries& entries) {
    Commit("", 0, [&](MDB_txn* transaction, MDB_dbi handle) {
      for (const auto& [key, value] : entries) {
        MDB_val stored_key = ValueOf(key);
        STOKER_CHECK(mdb_del(transaction, handle, &stored_key, nullptr) == 0);
      }
    });
  }

 private:
  static MDB_val ValueOf(const std::string& text) { return {text.size(), const_cast<char*>(text.data())}; }

  void Commit(const std::string& database, unsigned flags, const std::function<void(MDB_txn*, MDB_dbi)>& change) {
    MDB_txn* transaction = nullptr;
    MDB_dbi handle = 0;
    STOKER_CHECK(mdb_txn_begin(environment_, nullptr, 0, &transaction) == 0);
    STOKER_CHECK(
        mdb_dbi_open(transaction, database.empty() ? nullptr : database.c_str(), flags | MDB_CREATE, &handle) == 0);
    change(transaction, handle);
    STOKER_CHECK(mdb_txn_commit(transaction) == 0);
  }

  MDB_env* environment_ = nullptr;
};

}  // namespace stoker

#endif  // STOKER_TESTS_UNIT_SERVER_READ_FORMATS_LMDB_ENVIRONMENT_H_
