#!/bin/bash
# A table of the events of many traces on several ClickHouse servers, each with a part of the boards (its shard).
#
#   clickhouse.sh serve FOLDER PORT...             starts a server for each port on 127.0.0.1, with its data in
#                                                  FOLDER/PORT; prints "ready"; Ctrl-C or SIGTERM ends them
#   rows.sh TRACE... | clickhouse.sh load PORT     adds events, through any of the servers
#   clickhouse.sh ask PORT QUESTION.sql            prints the answer, tab-separated, NULL as \N
#
# Tables are in clickhouse.sql. On several machines, each has the configuration that `serve` writes, with their addresses.
set -euo pipefail
here=$(dirname "$0")
usage() { sed -n '4,7s/^# *//p' "$0" >&2; exit 2; }
client() { clickhouse-client --host 127.0.0.1 --port "$1" "${@:2}"; }

configuration() { # FOLDER PORT ALL-PORTS...
    cat <<XML
<yandex>
    <logger><level>warning</level><console>1</console></logger>
    <listen_host>127.0.0.1</listen_host>
    <tcp_port>$2</tcp_port>
    <path>$1/$2/data/</path>
    <tmp_path>$1/$2/tmp/</tmp_path>
    <mark_cache_size>67108864</mark_cache_size>
    <users_config>config.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
    <users><default>
        <password/><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
    </default></users>
    <quotas><default/></quotas>
    <profiles><default>
        <max_memory_usage>1000000000</max_memory_usage>
        <max_execution_time>600</max_execution_time>
        <insert_distributed_sync>1</insert_distributed_sync>
        <join_default_strictness>ALL</join_default_strictness>
    </default></profiles>
    <remote_servers><fleet>
$(printf '        <shard><replica><host>127.0.0.1</host><port>%s</port></replica></shard>\n' "${@:3}")
    </fleet></remote_servers>
</yandex>
XML
}

serve() { # FOLDER PORT...
    local folder port tries=0
    mkdir -p "$1"
    folder=$(realpath "$1")
    shift
    trap 'trap "" INT TERM; kill $(jobs -p) 2>/dev/null || :; wait' EXIT # a second signal must not end the wait
    trap exit INT TERM
    for port in "$@"; do
        mkdir -p "$folder/$port"
        configuration "$folder" "$port" "$@" >"$folder/$port/config.xml"
        clickhouse-server --config-file="$folder/$port/config.xml" >"$folder/$port/log" 2>&1 &
    done
    for port in "$@"; do
        until cat "$here/clickhouse.sql" "$here/views.sql" | client "$port" --multiquery 2>"$folder/$port/refused"; do
            [ $((tries += 1)) -le 300 ] && [ "$(jobs -pr | wc -l)" = $# ] ||
                { echo "clickhouse.sh: the server at port $port does not start: $folder/$port/log, refused" >&2; exit 1; }
            sleep 0.1
        done
    done
    echo ready
    wait
}

case ${1-} in
serve)
    [ $# -ge 3 ] || usage
    serve "${@:2}" ;;
load)
    [ $# = 2 ] || usage
    # This version ignores the names of CSVWithNames, so they go into the statement.
    IFS= read -r names || { echo "clickhouse.sh: no rows" >&2; exit 1; }
    client "$2" --max_insert_block_size 65536 --query "INSERT INTO events ($names) FORMAT CSV" ;;
ask)
    [ $# = 3 ] && [ -r "$3" ] || usage
    client "$2" --query "$(cat "$3")"$'\n'"FORMAT TabSeparatedWithNames" ;;
*) usage ;;
esac
