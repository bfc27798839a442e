{{/* SPDX-License-Identifier: BSD-2-Clause
     Names, labels and contexts that the templates share. */}}
{{- define "gpuprobe.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "gpuprobe.fullname" -}}
{{- $name := include "gpuprobe.name" . }}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains $name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "gpuprobe.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride }}
{{- end }}

{{- define "gpuprobe.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "gpuprobe.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "gpuprobe.selector" -}}
app.kubernetes.io/name: {{ include "gpuprobe.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gpuprobe.labels" -}}
{{ include "gpuprobe.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "gpuprobe.metadata" -}}
name: {{ include "gpuprobe.fullname" . }}
namespace: {{ include "gpuprobe.namespace" . }}
labels:
  {{- include "gpuprobe.labels" . | nindent 2 }}
{{- end }}

{{- define "gpuprobe.image" -}}
{{- $image := .Values.image }}
{{- with $image.registry }}{{ . }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ default .Chart.AppVersion $image.tag }}{{ end }}
{{- end }}

{{- define "gpuprobe.capabilities" -}}
- BPF
- PERFMON
- SYS_PTRACE
- DAC_READ_SEARCH
- CHECKPOINT_RESTORE
{{- if .Values.legacyKernel }}
- SYS_ADMIN
{{- end }}
{{- end }}

{{/* The field appArmorProfile is of 1.30; older clusters read an annotation. */}}
{{- define "gpuprobe.hasAppArmorField" -}}
{{- if semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version }}true{{ end }}
{{- end }}

{{- define "gpuprobe.oldAppArmor" -}}
{{- $profile := .Values.appArmorProfile }}
{{- if eq $profile.type "Localhost" }}localhost/{{ $profile.localhostProfile }}
{{- else if eq $profile.type "RuntimeDefault" }}runtime/default
{{- else }}unconfined
{{- end }}
{{- end }}

{{/* What ServiceMonitor and PodMonitor say of an endpoint; the argument is their values. */}}
{{- define "gpuprobe.endpoint" -}}
- port: metrics
  path: /metrics
  interval: {{ .interval }}
  scrapeTimeout: {{ .scrapeTimeout }}
  honorLabels: {{ .honorLabels }}
  {{- with .relabelings }}
  relabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .metricRelabelings }}
  metricRelabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
