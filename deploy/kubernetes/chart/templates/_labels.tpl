{{- define "stoker.selector" -}}
app.kubernetes.io/name: stokerd
{{- end }}
{{- define "stoker.metadata" -}}
name: {{ .Release.Name }}
labels:
  {{- include "stoker.selector" . | nindent 2 }}
  app.kubernetes.io/part-of: stoker
{{- end }}
{{- define "stoker.behavior" -}}
scaleUp:
  stabilizationWindowSeconds: 60
  selectPolicy: Max
  policies:
    - type: Percent
      value: 50
      periodSeconds: 120
    - type: Pods
      value: 2
      periodSeconds: 120
scaleDown:
  stabilizationWindowSeconds: 1800
  selectPolicy: Min
  policies:
    - type: Pods
      value: 1
      periodSeconds: 300
{{- end }}
