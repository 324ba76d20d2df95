module gander.example/notebooks

go 1.26.0

require (
	github.com/gander-go/gander v0.0.0
	gonum.org/v1/gonum v0.17.0
)

require github.com/petermattis/goid v0.0.0-20261109124353-7cfa343ad0ab // indirect

replace github.com/gander-go/gander => ../
