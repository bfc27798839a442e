# SPDX-License-Identifier: BSD-2-Clause
"""What a cluster does with a rendered DaemonSet, without a cluster: a bundle for runc."""
import os

# Paths of the container that the host has too, as a runtime mounts them.
MOUNTS = [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
     "options": ["nosuid", "strictatime", "mode=755", "size=65536k"]},
    {"destination": "/sys", "type": "none", "source": "/sys", "options": ["rbind", "ro"]}]


def names_of(profile):
    """The profile of a container engine as runc takes it."""
    rules = [{key: value for key, value in rule.items() if key != "comment"}
             for rule in profile["syscalls"]]
    return {"defaultAction": profile["defaultAction"],
            "defaultErrnoRet": profile["defaultErrnoRet"],
            "architectures": [entry["architecture"] for entry in profile["archMap"]],
            "syscalls": rules}


def host_paths(pod, container):
    """The mounts of the container's hostPath volumes."""
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod.get("volumes", [])}
    return [{"destination": mount["mountPath"], "type": "bind", "source": paths[mount["name"]],
             "options": ["rbind", "rw"]} for mount in container.get("volumeMounts", [])]


def bundle(daemonset, image, port, seccomp=None):
    """
    runc's config.json of the pod's container. As the kubelet does it, the added capabilities are
    not ambient, and allowPrivilegeEscalation: false is noNewPrivileges. The network is the host's,
    because there is no other one here; `port` replaces the port of the metrics.
    """
    pod = daemonset["spec"]["template"]["spec"]
    container = pod["containers"][0]
    context = container["securityContext"]
    assert context["capabilities"]["drop"] == ["ALL"] and not context["privileged"]
    added = ["CAP_" + name for name in context["capabilities"]["add"]]
    own = container["ports"][0]["containerPort"]
    arguments = [word.replace(f":{own}", f":{port}") for word in container["args"]]
    namespaces = [{"type": "mount"}, {"type": "ipc"}, {"type": "uts"}]
    if not pod["hostPID"]:
        namespaces.append({"type": "pid"})
    no_devices = [{"allow": False, "access": "rwm"}]
    linux = {"namespaces": namespaces, "resources": {"devices": no_devices},
             "cgroupsPath": f"/gpuprobe-deploy-{os.getpid()}"}
    if seccomp:
        linux["seccomp"] = names_of(seccomp)
    return {
        "ociVersion": "1.0.2", "hostname": "node", "linux": linux,
        "mounts": [*MOUNTS, *host_paths(pod, container)],
        "root": {"path": "rootfs", "readonly": context["readOnlyRootFilesystem"]},
        "process": {"args": [*image["Entrypoint"], *arguments], "env": image["Env"], "cwd": "/",
                    "user": {"uid": context["runAsUser"], "gid": context["runAsGroup"]},
                    "noNewPrivileges": not context["allowPrivilegeEscalation"],
                    "capabilities": {kind: added for kind in ("bounding", "effective", "permitted")}
                    }}

