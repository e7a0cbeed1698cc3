"""MariaDB, from 10.1 on."""

from acidtest.servers.base import Launch, RunProgram
from acidtest.servers.flavours.mysql_family import TCP_USER, MySqlFamily, at_least

SCRIPTS = (
    "mysql_system_tables.sql",
    "mariadb_system_tables.sql",
    "mysql_performance_tables.sql",
    "mariadb_performance_tables.sql",
    "mysql_system_tables_data.sql",
    "mariadb_system_tables_data.sql",
    "maria_add_gis_sp_bootstrap.sql",
    "mysql_sys_schema.sql",
    "mariadb_sys_schema.sql",
)
"""In the order of mariadb-install-db; releases name them one way or the other."""


class MariaDb(MySqlFamily):
    dbms = "mariadb"
    server_names = ("mariadbd", "mysqld")
    client_program_names = ("mariadb", "mysql")

    def initialise(self, launch: Launch, run: RunProgram) -> None:
        accounts = "global_priv" if at_least(launch, "10.4") else "user"
        only_socket = f"DELETE FROM mysql.{accounts} WHERE Host <> 'localhost' OR User = '';"
        self.bootstrap(launch, run, SCRIPTS, only_socket)

    def version_options(self, launch: Launch) -> list[str]:
        options = ["--innodb-log-file-size=8M", "--performance-schema=OFF"]
        options += self.binary_log(launch, is_default=False)
        if not at_least(launch, "10.2"):
            options.append("--innodb-show-verbose-locks=1")  # XtraDB prints the records of locks only then
        # from 11.4 on every start makes a certificate, which takes seconds
        return [*options, "--skip-ssl"] if at_least(launch, "11.4") else options

    def accounts_sql(self, launch: Launch) -> str:
        account = f"'{TCP_USER}'@'127.0.0.1'"
        return f"GRANT ALL ON *.* TO {account} IDENTIFIED BY '{launch.password}' WITH GRANT OPTION;\n"
