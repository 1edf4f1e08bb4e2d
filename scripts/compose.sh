# Sourced by what works with containers: `compose PROJECT …` is docker compose, old or new, with deploy/compose.yml.

# Why there is no cluster of containers to be had here; empty: there is one.
why_no_engine() {
    if ! command -v docker >/dev/null; then
        echo "there is no docker here (Debian: apt-get install docker.io docker-compose)"
    elif ! timeout 10 docker info >/dev/null 2>&1; then
        echo "no container engine answers \`docker info\`: it does not run, or is not this user's to use"
    elif ! docker compose version >/dev/null 2>&1 && ! command -v docker-compose >/dev/null; then
        echo "there is no docker compose here (Debian: apt-get install docker-compose)"
    fi
}

compose() {
    local project=$1
    shift
    if docker compose version >/dev/null 2>&1; then
        docker compose -p "$project" -f deploy/compose.yml "$@"
    else
        docker-compose -p "$project" -f deploy/compose.yml "$@"
    fi
}

# The containers of a service that run: containers PROJECT SERVICE
containers() { docker ps -q --filter "label=com.docker.compose.project=$1" --filter "label=com.docker.compose.service=$2"; }

# Everything of a project that is there: containers, volumes, networks.
remains() {
    docker ps -aq --filter "label=com.docker.compose.project=$1"
    docker volume ls -q --filter "label=com.docker.compose.project=$1"
    docker network ls -q --filter "label=com.docker.compose.project=$1"
}
