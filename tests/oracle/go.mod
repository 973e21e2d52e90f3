module trapeze.dev/oracle

go 1.26.0

require (
	golang.org/x/text v0.19.0
	k8s.io/apimachinery v0.32.4
)

require (
	sigs.k8s.io/json v0.0.0-20241010143419-9aa6b5e7a4b3 // indirect
	sigs.k8s.io/yaml v1.4.0 // indirect
)
