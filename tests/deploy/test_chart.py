# SPDX-License-Identifier: BSD-2-Clause
"""The Helm chart and the kustomize base: what they render, and what they refuse."""
import json
import re

import pytest
import yaml

from conftest import ROOT, run

CHART = ROOT / "deploy" / "helm" / "gpuprobe"
BASE = ROOT / "deploy" / "kustomize" / "base"
VALUES = [None, *sorted((CHART / "ci").glob("*-values.yaml"))]
VERSIONS = ["1.25.0", "1.29.0", "1.35.0"]
FIVE = ["BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE"]
OF_HELM = ("app.kubernetes.io/managed-by", "helm.sh/chart")


DASHBOARDS = ROOT / "deploy" / "monitoring" / "dashboards"


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def render(helm, *options):
    done = helm("template", "gpuprobe", CHART, "--namespace", "gpuprobe", *options)
    assert done.returncode == 0, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one]


def of_kind(objects, kind):
    return next(one for one in objects if one["kind"] == kind)


def pod_of(objects):
    return of_kind(objects, "DaemonSet")["spec"]["template"]["spec"]


def keys_of(values, schema, path=""):
    """Differences between the values' names and those of the schema."""
    for name in sorted({*values, *schema["properties"]} - {"global"}):
        if name not in values or name not in schema["properties"]:
            yield path + name
        elif "properties" in schema["properties"][name]:
            yield from keys_of(values[name], schema["properties"][name], f"{path}{name}.")


def test_values_and_schema_have_the_same_names():
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    different = set(keys_of(read(CHART / "values.yaml"), schema))
    assert not different - {"resources.claims"} - {f"seLinuxOptions.{name}" for name in (
        "type", "level", "role", "user")}


def test_readme_names_all_values():
    text = (CHART / "README.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`[^|]*) \|", text, re.M)
    named = {name for cell in cells for name in re.findall(r"`(\w+)", cell)}
    assert named == set(read(CHART / "values.yaml"))


def test_versions_are_those_of_the_program():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    version = re.search(r"^VERSION := (\S+)$", makefile, re.M)
    chart = read(CHART / "Chart.yaml")
    assert chart["appVersion"] == version[1]
    container = pod_of([read(BASE / "daemonset.yaml")])["containers"][0]
    assert container["image"] == f"gpuprobe:{version[1]}"


def test_base_has_no_privilege():
    pod = pod_of([read(BASE / "daemonset.yaml")])
    context = pod["containers"][0]["securityContext"]
    assert context["capabilities"] == {"drop": ["ALL"], "add": FIVE}
    assert (context["privileged"], context["allowPrivilegeEscalation"]) == (False, False)
    assert (context["runAsNonRoot"], context["runAsUser"]) == (True, 65532)
    assert context["readOnlyRootFilesystem"] and pod["hostPID"]
    assert not pod["automountServiceAccountToken"] and "volumes" not in pod
    assert not any("Role" in path.read_text(encoding="utf-8") for path in BASE.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem if path else "default")
def test_lint(helm, values):
    done = helm("lint", "--strict", CHART, *(["-f", values] if values else []))
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [
    "metrics.prot=1", "metrics.port=80", "metrics.port=x", "image.digest=sha256:1", "legacy=true",
    "legacyKernel=1", "seccompProfile.type=unconfined", "seccompProfile.type=Localhost",
    "serviceMonitor.interval=15x", "dashboards.enabled=1", "updateStrategy.type=Recreate",
    "openshift.SCC=true"])
def test_wrong_values(helm, wrong):
    done = helm("template", "x", CHART, "--set", wrong)
    assert done.returncode != 0 and "values don't meet the specifications" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem if path else "default")
def test_objects_are_valid(helm, models, values, version):
    objects = render(helm, "--kube-version", version, *(["-f", values] if values else []))
    known = [one for one in objects if one["kind"] != "SecurityContextConstraints"]
    done = run("node", ROOT / "tests" / "deploy" / "validate.mjs", models,
               input=json.dumps(known))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(known)} objects" in done.stdout
    assert not {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"} & {
        one["kind"] for one in objects}


@pytest.mark.slow
def test_legacy_kernel(helm):
    pod = pod_of(render(helm, "-f", CHART / "ci" / "legacy-kernel-values.yaml"))
    context = pod["containers"][0]["securityContext"]
    assert context["capabilities"]["add"] == [*FIVE, "SYS_ADMIN"]
    assert (context["runAsUser"], context["runAsNonRoot"], context["privileged"]) == (
        0, False, False)
    assert [volume["hostPath"]["path"] for volume in pod["volumes"]] == ["/sys/kernel/tracing"]


@pytest.mark.slow
def test_app_armor(helm):
    """Clusters before 1.30 take an annotation, later ones a field."""
    annotation = "container.apparmor.security.beta.kubernetes.io/gpuprobe"
    for version, field in (("1.29.0", False), ("1.30.0", True)):
        template = of_kind(render(helm, "--kube-version", version), "DaemonSet")["spec"]["template"]
        context = template["spec"]["containers"][0]["securityContext"]
        assert ("appArmorProfile" in context) == field
        assert (annotation in template["metadata"]["annotations"]) != field


def without_helm(value):
    if isinstance(value, dict):
        return {key: without_helm(one) for key, one in value.items() if key not in OF_HELM}
    return [without_helm(one) for one in value] if isinstance(value, list) else value


@pytest.mark.slow
def test_kustomize_base_is_the_default(helm, kubectl):
    built = kubectl("kustomize", BASE)
    assert built.returncode == 0, built.stderr
    base = {one["kind"]: one for one in yaml.safe_load_all(built.stdout)}
    chart = {one["kind"]: without_helm(one)
             for one in render(helm, "--set", "namespace.create=true")}
    assert base == chart


@pytest.mark.slow
def test_rules(helm):
    """They are those of deploy/monitoring, which test_monitoring.py tests, with the chart's job."""
    text = (ROOT / "deploy" / "monitoring" / "gpuprobe.rules.yml").read_text(encoding="utf-8")
    rendered = {}
    for runbooks in ("", "https://example.com/books/"):
        objects = render(helm, "--set", "prometheusRule.enabled=true",
                         "--set", f"prometheusRule.runbooks={runbooks}")
        rendered[runbooks] = of_kind(objects, "PrometheusRule")["spec"]
    text = text.replace('job="gpuprobe"', 'job=~".*gpuprobe"')
    assert rendered[""] == yaml.safe_load(text)
    text = text.replace("docs/runbooks/", "https://example.com/books/")
    assert rendered["https://example.com/books/"] == yaml.safe_load(text)


def config_maps(objects):
    return {name: (text, one["metadata"]) for one in objects if one["kind"] == "ConfigMap"
            for name, text in one["data"].items()}


@pytest.mark.slow
def test_dashboards(helm, kubectl):
    """Chart and kustomize have those of deploy/monitoring, as they are."""
    files = {path.name: path.read_text("utf-8") for path in DASHBOARDS.glob("*.json")}
    assert len(files) == 3
    built = kubectl("kustomize", DASHBOARDS)
    assert built.returncode == 0, built.stderr
    chart = config_maps(render(helm, "--set", "dashboards.enabled=true",
                               "--set", "dashboards.namespace=grafana"))
    for found in (chart, config_maps(list(yaml.safe_load_all(built.stdout)))):
        assert {name: text for name, (text, _) in found.items()} == files
        for name, (_, metadata) in found.items():
            assert metadata["name"] == name.removesuffix(".json")
            assert metadata["labels"]["grafana_dashboard"] == "1"
    assert {metadata["namespace"] for _, metadata in chart.values()} == {"grafana"}
    assert not config_maps(render(helm))
