# SPDX-License-Identifier: BSD-2-Clause
"""The parts of a Grafana dashboard as Grafana's JSON has them (schema 39: Grafana 11 and newer)."""
import json

SCHEMA = 39
COLUMNS = 24  # of Grafana's grid
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
HEIGHTS = {"row": 1, "stat": 4, "timeseries": 8, "table": 8}
FINE, WRONG = "green", "red"


def variable(name, label, selector, multi=True, everything=".*"):
    """
    A variable with the values of a label. "All" is the pattern `everything`, which also fits series
    without the label, or else all values. Values are looked up anew when the time range changes.
    """
    query = f"label_values({selector}, {name})"
    made = {
        "name": name, "label": label, "type": "query", "datasource": SOURCE, "definition": query,
        "query": {"query": query, "refId": f"variable-{name}"}, "refresh": 2, "sort": 1,
        "multi": multi, "includeAll": multi}
    if multi:
        made["current"] = {"text": ["All"], "value": ["$__all"]}
        if everything:
            made["allValue"] = everything
    return made


def source_variable():
    return {"name": "datasource", "label": "Prometheus", "type": "datasource",
            "query": "prometheus", "multi": False, "includeAll": False}


def link(title, uid, variables):
    """From a table's row to another dashboard, with the row's labels as values of variables."""
    values = "".join(f"&var-{name}=${{__data.fields.{name}}}" for name in variables)
    return {"title": title, "url": f"/d/{uid}?${{datasource:queryparam}}&${{__url_time_range}}"
                                   + values}


def row(title):
    return {"type": "row", "title": title, "collapsed": False, "panels": []}


def panel(kind, title, description, unit, targets, width, **options):
    """
    `targets` are pairs: expression, and the legend or a table's heading. Options: links, max,
    wrong_from (where a stat turns red), stacked, units (of a table's further columns).
    """
    is_table = kind == "table"
    defaults = {"unit": unit, "min": 0}
    if "max" in options:
        defaults["max"] = options["max"]
    if "wrong_from" in options:
        defaults["thresholds"] = {"mode": "absolute", "steps": [
            {"color": FINE, "value": None}, {"color": WRONG, "value": options["wrong_from"]}]}
    elif kind == "stat":
        defaults["color"] = {"mode": "fixed", "fixedColor": "text"}
    if kind == "timeseries":
        defaults["custom"] = {"fillOpacity": 30 if options.get("stacked") else 0,
                              "stacking": {"mode": "normal" if options.get("stacked") else "none"}}
    made = {"type": kind, "title": title, "description": description, "datasource": SOURCE,
            "targets": [_target(number, expression, legend, kind)
                        for number, (expression, legend) in enumerate(targets)],
            "fieldConfig": {"defaults": defaults, "overrides": []}, "width": width}
    if is_table:
        defaults["links"] = options.get("links", [])
        _columns(made, targets, [unit, *options.get("units", ())])
    elif kind == "stat":
        made["options"] = {"reduceOptions": {"calcs": ["lastNotNull"]}, "graphMode": "none"}
    else:
        made["options"] = {"legend": {"displayMode": "table", "placement": "bottom",
                                      "calcs": ["lastNotNull", "max"]},
                           "tooltip": {"mode": "multi", "sort": "desc"}}
    return made


def _target(number, expression, legend, kind):
    is_now = kind != "timeseries"
    return {"refId": chr(ord("A") + number), "expr": expression, "datasource": SOURCE,
            "legendFormat": "" if kind == "table" else legend, "instant": is_now,
            "range": not is_now, "format": "table" if kind == "table" else "time_series"}


def _columns(made, targets, units):
    """A table's rows are label sets. Its queries are columns, each with its heading and unit."""
    several = len(targets) > 1
    names = {f"Value #{chr(ord('A') + number)}" if several else "Value": heading
             for number, (_, heading) in enumerate(targets)}
    made["transformations"] = [{"id": "merge", "options": {}}] * several + [
        {"id": "organize", "options": {"excludeByName": {"Time": True}, "renameByName": names}}]
    made["fieldConfig"]["overrides"] = [
        {"matcher": {"id": "byName", "options": heading},
         "properties": [{"id": "unit", "value": unit}]}
        for heading, unit in zip(names.values(), units)]
    made["options"] = {"showHeader": True, "sortBy": [{"displayName": targets[0][1],
                                                       "desc": True}]}


def annotation(name, expression, title):
    return {"name": name, "enable": True, "iconColor": "orange", "datasource": SOURCE,
            "expr": expression, "titleFormat": title, "step": "60s"}


def dashboard(uid, title, description, variables, annotations, panels):
    """Panels fill rows of the grid from left to right, in their order."""
    left = top = height = 0
    placed = []
    for number, one in enumerate(panels, 1):
        one = dict(one)
        width, size = one.pop("width", COLUMNS), HEIGHTS[one["type"]]
        if left + width > COLUMNS or one["type"] == "row":
            left, top, height = 0, top + height, 0
        placed.append({"id": number, "gridPos": {"x": left, "y": top, "w": width, "h": size},
                       **one})
        left, height = left + width, max(height, size)
    return {
        "uid": uid, "title": title, "description": description, "tags": ["gpuprobe"],
        "schemaVersion": SCHEMA, "editable": True, "graphTooltip": 1, "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"}, "timezone": "",
        "links": [{"title": "gpuprobe", "type": "dashboards", "tags": ["gpuprobe"],
                   "asDropdown": True, "includeVars": True, "keepTime": True}],
        "templating": {"list": [source_variable(), *variables]},
        "annotations": {"list": annotations}, "panels": placed}


def text(made):
    """The JSON with a line for each panel, so that a difference shows which panel has changed."""
    panels = ",\n".join("  " + json.dumps(one) for one in made["panels"])
    others = json.dumps({**made, "panels": []}, indent=1)
    return others.replace('"panels": []', f'"panels": [\n{panels}\n ]') + "\n"
