"""Variables of sessions that change no result, no wait and no promise: a case may set them and is judged.

A lock time-out changes how long a statement waits before it gives up, which every claim allows to one that
waited.
"""

from collections.abc import Mapping

_POSTGRES = """
    lock_timeout statement_timeout deadlock_timeout idle_in_transaction_session_timeout transaction_timeout
    idle_session_timeout client_min_messages log_min_messages log_statement log_lock_waits application_name
    work_mem maintenance_work_mem temp_buffers hash_mem_multiplier effective_cache_size random_page_cost
    seq_page_cost cpu_tuple_cost cpu_index_tuple_cost cpu_operator_cost parallel_setup_cost
    parallel_tuple_cost max_parallel_workers max_parallel_workers_per_gather
    max_parallel_maintenance_workers min_parallel_table_scan_size min_parallel_index_scan_size
    debug_parallel_query force_parallel_mode parallel_leader_participation jit jit_above_cost
    join_collapse_limit from_collapse_limit geqo plan_cache_mode constraint_exclusion
    default_statistics_target synchronous_commit vacuum_cost_delay track_activities track_io_timing
    debug_discard_caches
"""
_MYSQL = """
    innodb_lock_wait_timeout lock_wait_timeout max_statement_time max_execution_time wait_timeout
    net_read_timeout net_write_timeout interactive_timeout optimizer_switch optimizer_search_depth
    optimizer_prune_level optimizer_use_condition_selectivity eq_range_index_dive_limit join_buffer_size
    sort_buffer_size read_buffer_size read_rnd_buffer_size tmp_table_size max_heap_table_size profiling
    innodb_deadlock_detect innodb_print_all_deadlocks long_query_time slow_query_log
    use_stat_tables tidb_index_lookup_size tidb_distsql_scan_concurrency
"""
_SQLITE = "busy_timeout cache_size mmap_size temp_store"
_DUCKDB = "threads worker_threads memory_limit max_memory temp_directory enable_progress_bar"

CHANGE_NOTHING: Mapping[str, frozenset[str]] = {
    "postgres": frozenset(_POSTGRES.split()),
    "sqlite": frozenset(_SQLITE.split()),
    "duckdb": frozenset(_DUCKDB.split()),
    **dict.fromkeys(("mysql", "mariadb", "tidb", "seekdb", "simulated"), frozenset(_MYSQL.split())),
}
_FAMILIES = {"postgres": ("enable_", "log_", "geqo_", "jit_", "autovacuum", "vacuum_cost_")}


def changes_nothing(dbms: str, name: str) -> bool:
    """Whether a variable decides nothing that is judged."""
    wanted = name.lower()
    return wanted in CHANGE_NOTHING.get(dbms, ()) or wanted.startswith(_FAMILIES.get(dbms, ("\0",)))


_ONE_SCHEMA = frozenset({"postgres", "mysql", "mariadb"})


def has_one_schema(dbms: str) -> bool:
    """Whether a changed definition holds for everybody as soon as the statement is over, and others are kept
    away from the table until then. Elsewhere (SQLite, TiDB) a transaction may go on with the old one."""
    return dbms in _ONE_SCHEMA
