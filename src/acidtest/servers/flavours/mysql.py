"""MySQL, from 5.5 on."""

from acidtest.servers.base import Launch, RunProgram
from acidtest.servers.flavours.mysql_family import TCP_USER, MySqlFamily, at_least

OLD_SCRIPTS = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")


class MySql(MySqlFamily):
    dbms = "mysql"
    server_names = ("mysqld",)
    client_program_names = ("mysql",)

    def initialise(self, launch: Launch, run: RunProgram) -> None:
        if at_least(launch, "5.7"):
            run([*self.common_options(launch), "--initialize-insecure"], "")
        else:
            # 5.6 gives root without a password to the loopback addresses and makes an anonymous account
            only_socket = "DELETE FROM mysql.user WHERE Host <> 'localhost' OR User = '';"
            self.bootstrap(launch, run, OLD_SCRIPTS, only_socket)

    def version_options(self, launch: Launch) -> list[str]:
        if at_least(launch, "8.0"):
            # performance_schema tells who waits for whom here; the X protocol would open a second port
            options = [
                "--performance-schema=ON",
                "--mysqlx=OFF",
                "--auto-generate-certs=OFF",
            ]
        else:
            options = ["--performance-schema=OFF"]
        options += self.binary_log(launch, is_default=at_least(launch, "8.0"))
        if at_least(launch, "8.0.30"):
            return [*options, "--innodb-redo-log-capacity=16M"]
        return [*options, "--innodb-log-file-size=8M"]

    def accounts_sql(self, launch: Launch) -> str:
        account, password = f"'{TCP_USER}'@'127.0.0.1'", launch.password
        if not at_least(launch, "5.7"):
            return f"GRANT ALL ON *.* TO {account} IDENTIFIED BY '{password}' WITH GRANT OPTION;\n"
        return (
            f"CREATE USER IF NOT EXISTS {account} IDENTIFIED BY '{password}';\n"
            f"GRANT ALL ON *.* TO {account} WITH GRANT OPTION;\n"
        )
