"""Writes a container image as an OCI archive: the static program, certificate authorities, a user, a volume, and nothing else.

    container.py PROGRAM AUTHORITIES LICENSE VERSION ARCHIVE

`podman load -i` and `docker load -i` (25 or newer) read the archive. It has no shell, no tmux and no other users, so agents in terminals and
`run_as` need the image of packaging/Containerfile. The same inputs make the same bytes if SOURCE_DATE_EPOCH is set.
"""

import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
from datetime import datetime, timezone
from pathlib import Path

USER = 10001
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
FILES = {
    "etc/passwd": f"root:x:0:0::/:/nologin\nmoothall:x:{USER}:{USER}::/data:/nologin\n",
    "etc/group": f"root:x:0:\nmoothall:x:{USER}:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}


def entry(name, mode, size=0, owner=0, kind=tarfile.REGTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.size, info.mtime = kind, mode, size, EPOCH
    info.uid = info.gid = owner
    return info


def tar_of(files, folders=()):
    """Returns a tar of folders (name, mode, owner) and files (name, mode, bytes)."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, mode, owner in folders:
            tar.addfile(entry(name, mode, owner=owner, kind=tarfile.DIRTYPE))
        for name, mode, content in files:
            tar.addfile(entry(name, mode, len(content)), io.BytesIO(content))
    return buffer.getvalue()


def layer(program, authorities, licence):
    folders = [(name, 0o755, 0) for name in ("etc", "etc/ssl", "etc/ssl/certs", "usr", "usr/local", "usr/local/bin")]
    folders += [("usr/share", 0o755, 0), ("tmp", 0o1777, 0), ("data", 0o700, USER)]
    files = [(name, 0o644, text.encode()) for name, text in FILES.items()]
    files.append(("etc/ssl/certs/ca-certificates.crt", 0o644, Path(authorities).read_bytes()))
    files.append(("usr/share/LICENSE", 0o644, Path(licence).read_bytes()))
    files.append(("usr/local/bin/moothall", 0o755, Path(program).read_bytes()))
    return tar_of(files, folders)


def configuration(version, diff):
    labels = {
        "org.opencontainers.image.title": "moothall",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.description": "One server in which people and AI agents hold conversations; without tmux and run_as",
    }
    created = datetime.fromtimestamp(EPOCH, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "Env": ["PATH=/usr/local/bin", "HOME=/data", "LANG=C.UTF-8"],
            "Entrypoint": ["/usr/local/bin/moothall"],
            "Cmd": ["serve", "--data", "/data", "--bind", "127.0.0.1:5111", "--log", "json"],
            "Volumes": {"/data": {}},
            "WorkingDir": "/data",
            "StopSignal": "SIGTERM",
            "Labels": labels,
        },
        "rootfs": {"type": "layers", "diff_ids": [diff]},
        "history": [{"created": created, "created_by": "packaging/container.py"}],
    }


def main(program, authorities, licence, version, archive):
    blobs = []

    def blob(media, content):
        digest = hashlib.sha256(content).hexdigest()
        blobs.append((f"blobs/sha256/{digest}", 0o644, content))
        return {"mediaType": f"application/vnd.oci.image.{media}", "digest": f"sha256:{digest}", "size": len(content)}

    plain = layer(program, authorities, licence)
    packed = blob("layer.v1.tar+gzip", gzip.compress(plain, 9, mtime=0))
    config = configuration(version, f"sha256:{hashlib.sha256(plain).hexdigest()}")
    config = blob("config.v1+json", json.dumps(config).encode())
    media = "application/vnd.oci.image.manifest.v1+json"
    manifest = {"schemaVersion": 2, "mediaType": media, "config": config, "layers": [packed]}
    named = blob("manifest.v1+json", json.dumps(manifest).encode())
    named["annotations"] = {
        "org.opencontainers.image.ref.name": version,
        "io.containerd.image.name": f"docker.io/library/moothall:{version}",
    }
    named["platform"] = {"architecture": "amd64", "os": "linux"}
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [named]}
    files = [
        ("oci-layout", 0o644, b'{"imageLayoutVersion": "1.0.0"}'),
        ("index.json", 0o644, json.dumps(index).encode()),
    ]
    folders = [("blobs", 0o755, 0), ("blobs/sha256", 0o755, 0)]
    Path(archive).write_bytes(tar_of(files + blobs, folders))


if __name__ == "__main__":
    main(*sys.argv[1:])
