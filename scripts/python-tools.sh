# Sourced. Sets PYTHON to one that has the packages named as arguments, installed from PyPI where they are missing; empty, with a line
# that says so, where they cannot be had.
python_tools() {
    PYTHON=""
    local folder="$PWD/.build/python-tools" name
    name=$(printf '%s-' "$@")
    if [ ! -x "$folder/$name/bin/python" ]; then
        rm -rf "${folder:?}/$name"
        if ! python3 -m venv "$folder/$name" >/dev/null 2>&1 || ! timeout 300 "$folder/$name/bin/pip" install --quiet --disable-pip-version-check "$@" >&2; then
            rm -rf "${folder:?}/$name"
            echo "SKIPPED: $* cannot be installed from PyPI here"
            return 0
        fi
    fi
    PYTHON="$folder/$name/bin/python"
}
