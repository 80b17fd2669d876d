{{- define "millrace.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "millrace.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains (include "millrace.name" .) .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "millrace.name" .) | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "millrace.selectorLabels" -}}
app.kubernetes.io/name: {{ include "millrace.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "millrace.labels" -}}
{{ include "millrace.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* A time such as 250ms, 5s or 2m in whole seconds, rounded up. */}}
{{- define "millrace.seconds" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- if eq $unit "ms" -}}{{ div (add $number 999) 1000 }}
{{- else if eq $unit "m" -}}{{ mul $number 60 }}
{{- else if eq $unit "h" -}}{{ mul $number 3600 }}
{{- else -}}{{ $number }}
{{- end -}}
{{- end -}}

{{- define "millrace.terminationGracePeriodSeconds" -}}
{{- $delay := include "millrace.seconds" .Values.settings.drain_delay | int64 -}}
{{- $timeout := include "millrace.seconds" .Values.settings.drain_timeout | int64 -}}
{{- add $delay $timeout .Values.terminationMarginSeconds -}}
{{- end -}}

{{- define "millrace.keysSecret" -}}
{{- if .Values.apiKeys.existingSecret -}}{{ .Values.apiKeys.existingSecret }}
{{- else if .Values.apiKeys.lines -}}{{ include "millrace.fullname" . }}-keys
{{- end -}}
{{- end -}}

{{- define "millrace.tlsSecret" -}}
{{- if .Values.tls.enabled -}}{{ .Values.tls.existingSecret | default (printf "%s-tls" (include "millrace.fullname" .)) }}
{{- end -}}
{{- end -}}

{{- define "millrace.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "millrace.fullname" .) -}}
{{- end -}}

{{/* What the schema cannot express. */}}
{{- define "millrace.check" -}}
{{- $delay := include "millrace.seconds" .Values.settings.drain_delay | int64 -}}
{{- $notices := mul .Values.probes.readiness.periodSeconds .Values.probes.readiness.failureThreshold -}}
{{- if lt $delay $notices -}}
{{- fail (printf "settings.drain_delay is %s: it must be at least probes.readiness.periodSeconds x failureThreshold, %d s, in which load balancers notice" .Values.settings.drain_delay $notices) -}}
{{- end -}}
{{- if and .Values.tls.enabled (not .Values.tls.existingSecret) (not (and .Values.tls.certificate .Values.tls.key)) -}}
{{- fail "tls.enabled needs tls.existingSecret, or both tls.certificate and tls.key" -}}
{{- end -}}
{{- if and .Values.tls.clientCertificates (not .Values.tls.enabled) -}}
{{- fail "tls.clientCertificates needs tls.enabled" -}}
{{- end -}}
{{- if and .Values.tls.enabled .Values.tls.clientCertificates (not .Values.tls.existingSecret) (not .Values.tls.ca) -}}
{{- fail "tls.clientCertificates needs tls.ca, or ca.crt in tls.existingSecret" -}}
{{- end -}}
{{- if and .Values.apiKeys.existingSecret .Values.apiKeys.lines -}}
{{- fail "apiKeys.existingSecret and apiKeys.lines exclude each other" -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- fail (printf "autoscaling.minReplicas is %d: it must be at most autoscaling.maxReplicas, %d" (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- end -}}
